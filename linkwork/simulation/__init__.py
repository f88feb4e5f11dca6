"""Time: integrators as data, the time loop as a program, events, runs over many samples. Numbers only."""
