"""Libraries that the reference API carries along and that programs reach through it."""
