"""Package of the mnav command."""

from setuptools import find_packages, setup

setup(
    name="mnav_cli",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_cli"]),
        ("share/mnav_cli", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="The mnav command: bootstrap, tests, and supervised systems.",
    license="Apache-2.0",
    extras_require={"test": ["pytest"]},
)
