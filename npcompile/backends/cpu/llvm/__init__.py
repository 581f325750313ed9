"""LLVM IR as text: values, vectors, memory and sizes."""
