"""Package mnav_robots."""

from setuptools import find_packages, setup

setup(
    name="mnav_robots",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_robots": ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_robots"]),
        ("share/mnav_robots", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="Robot drivers of mnav and the velocity gate.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "assistance_terminal = mnav_robots.assistance_terminal:main",
            "go1_driver = mnav_robots.go1_node:main",
            "go2_driver = mnav_robots.go2_node:main",
            "human_assistance = mnav_robots.assistance_node:main",
            "mounts = mnav_robots.mounts_node:main",
            "tracer_driver = mnav_robots.tracer_node:main",
            "velocity_gate = mnav_robots.gate_node:main",
        ],
        "mnav.nodes": [
            "go1_driver = mnav_robots.go1_node:make_node",
            "go2_driver = mnav_robots.go2_node:make_node",
            "human_assistance = mnav_robots.assistance_node:make_node",
            "mounts = mnav_robots.mounts_node:make_node",
            "tracer_driver = mnav_robots.tracer_node:make_node",
            "velocity_gate = mnav_robots.gate_node:make_node",
        ],
    },
)
