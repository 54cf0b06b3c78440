"""Maps, RGB-D folders, point clouds and models made by others."""
