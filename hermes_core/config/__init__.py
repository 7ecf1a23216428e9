"""Where things live and what the user wrote: a private room of the kernel."""
