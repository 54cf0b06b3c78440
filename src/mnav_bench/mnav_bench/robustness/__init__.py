"""Figures of faults: what the graph does when a client changes its mind, an input dies, or a process is killed."""
