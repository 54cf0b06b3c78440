"""Package mnav_graph."""

from setuptools import find_packages, setup

setup(
    name="mnav_graph",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_graph": ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_graph"]),
        ("share/mnav_graph", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="The interaction graph of mnav: association, states, effects, candidates, verification.",
    license="Apache-2.0",
)
