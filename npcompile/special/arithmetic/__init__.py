"""Numbers in two parts, and the formats that programs are written for."""
