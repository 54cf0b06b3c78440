"""Results of sweeps side by side: tables with intervals, paired differences, one HTML page."""
