"""Package mnav_core."""

from setuptools import find_packages, setup

setup(
    name="mnav_core",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_core": ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_core"]),
        ("share/mnav_core", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="Plain Python core of mnav.",
    license="Apache-2.0",
)
