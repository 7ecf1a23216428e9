"""What is installed, declared, allowed, loaded and called. Private: plugins never import from here."""
