"""LLVM text to machine code, and machine code into this process."""
