"""Package mnav_perception."""

from setuptools import find_packages, setup

setup(
    name="mnav_perception",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_perception": ["py.typed", "articulation/*.npz"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_perception"]),
        ("share/mnav_perception", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="Perception of mnav: voxel map, cost maps, coverage, frontiers, captures.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["mapper = mnav_perception.mapper_node:main"],
        "mnav.nodes": ["mapper = mnav_perception.mapper_node:make_node"],
    },
)
