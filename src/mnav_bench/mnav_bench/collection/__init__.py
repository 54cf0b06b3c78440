"""Full trajectory records of suite `multinav` (MultINav, appendix C): HDF5 files and a LeRobot dataset."""
