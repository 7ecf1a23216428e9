"""JSON-RPC 2.0 over lines, both ways: what the Agent Client Protocol is spoken in."""
