"""What compiled code relies on: where values come from and how they are guarded."""
