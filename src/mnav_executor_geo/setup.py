"""Package mnav_executor_geo."""

from setuptools import find_packages, setup

setup(
    name="mnav_executor_geo",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_executor_geo": ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_executor_geo"]),
        ("share/mnav_executor_geo", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="Geometric executor of mnav: visual point to goal, path and velocity from sensed geometry.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["executor = mnav_executor_geo.executor_node:main"],
        "mnav.nodes": ["executor = mnav_executor_geo.executor_node:make_node"],
    },
)
