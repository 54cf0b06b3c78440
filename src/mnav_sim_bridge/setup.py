"""Packaging of mnav_sim_bridge."""

from setuptools import find_packages, setup

PACKAGE = "mnav_sim_bridge"

setup(
    name=PACKAGE,
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={PACKAGE: ["py.typed", "assets/go2/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{PACKAGE}"]),
        (f"share/{PACKAGE}", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=False,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="Simulated homes, robots and sensors: MuJoCo worlds built from a seed.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
)
