"""What a mechanism is: described in Python or read from files, put in order and checked. No equations."""
