"""Package mnav_models."""

from setuptools import find_packages, setup

setup(
    name="mnav_models",
    version="0.1.0",
    packages=find_packages(exclude=["test"]),
    package_data={"mnav_models": ["py.typed", "data/*"]},
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/mnav_models"]),
        ("share/mnav_models", ["package.xml"]),
    ],
    install_requires=["setuptools"],
    extras_require={"test": ["pytest"], "keyring": ["keyring"]},
    zip_safe=True,
    maintainer="mnav maintainers",
    maintainer_email="mnav@example.org",
    description="Chat models and text embeddings behind one seam.",
    license="Apache-2.0",
)
