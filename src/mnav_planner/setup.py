"""Package mnav_planner."""

from setuptools import find_packages, setup

setup(
    name="mnav_planner",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_planner": ["py.typed", "skills/*/*.md", "skills/*/references/*.md"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_planner"]),
        ("share/mnav_planner", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="The minds of mnav: agents and what steps them.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": [
            "task_server = mnav_planner.task_node:main",
            "watch = mnav_planner.watch_node:main",
        ],
        "mnav.nodes": [
            "task_server = mnav_planner.task_node:make_node",
            "watch = mnav_planner.watch_node:make_node",
        ],
    },
)
