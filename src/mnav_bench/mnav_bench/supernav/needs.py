"""Needs and what serves them: for demand-driven tasks."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NEEDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "I want to drink something": ("cup", "mug", "bottle", "kettle"),
        "I would like to read for a while": ("book", "newspaper", "laptop"),
        "I need something healthy to eat": ("apple", "tomato", "lettuce"),
        "I want a snack": ("bread", "apple", "egg"),
        "I have to eat soup at the table": ("bowl", "spoon"),
        "I need something to cook in": ("pot", "pan"),
        "I want to make a phone call": ("cell_phone",),
        "I need to send an e-mail": ("laptop", "cell_phone"),
        "The room is too dark for me": ("lamp", "candle"),
        "I want to know what time it is": ("alarm_clock", "cell_phone"),
        "My hands are dirty": ("soap_bottle", "tissue_box"),
        "I want to change the channel": ("remote_control",),
        "The child wants something to play with": ("toy_car", "teddy_bear", "basketball"),
        "I want to do some sport": ("basketball", "tennis_racket"),
        "I am going out into the sun": ("hat",),
        "I must carry my things to school": ("backpack", "box"),
        "I want to rest my head": ("pillow",),
        "The flowers are thirsty": ("watering_can", "bottle"),
        "I want to put flowers on the table": ("vase",),
        "I want my bread warm and crisp": ("toaster",),
        "I need to serve a meal": ("plate", "bowl"),
        "I want to put something on my feet": ("shoe",),
    }
)
