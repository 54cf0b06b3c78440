"""Package mnav_bench."""

from setuptools import find_packages, setup

setup(
    name="mnav_bench",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_bench": ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_bench"]),
        ("share/mnav_bench", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="Episodes, generators, oracles, metrics, runners and reports of mnav.",
    license="Apache-2.0",
    entry_points={
        "console_scripts": ["house = mnav_bench.house_node:main", "simulation = mnav_bench.director:main"],
        "mnav.nodes": ["house = mnav_bench.house_node:make_node", "simulation = mnav_bench.director:make_node"],
    },
)
