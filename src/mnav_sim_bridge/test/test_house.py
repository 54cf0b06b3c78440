"""Generated houses: reproducible, complete, with a record that survives JSON."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mnav_core.errors import UsageError
from mnav_core.robot import find_robot
from mnav_sim_bridge.house.assembly import House, assemble
from mnav_sim_bridge.house.catalogue import object_kinds, target_categories
from mnav_sim_bridge.house.design import draw_design
from mnav_sim_bridge.house.generate import generate_house, rebuild_house
from mnav_sim_bridge.house.records import HouseRecord

SEEDS = (0, 1, 2, 3)


def house_of(seed: int, doors: str = "open") -> House:
    design = draw_design(seed, 0, None)
    assert design is not None
    return assemble(design, doors)


@pytest.fixture(scope="module")
def houses() -> dict[int, House]:
    return {seed: house_of(seed) for seed in SEEDS}


def test_a_seed_gives_the_same_model_again(houses: dict[int, House]) -> None:
    for seed, house in houses.items():
        again = house_of(seed)
        assert again.xml == house.xml and again.record == house.record and again.assets == house.assets
    assert len({h.record.xml_sha256 for h in houses.values()}) == len(SEEDS)


def test_the_record_survives_json(houses: dict[int, House]) -> None:
    for house in houses.values():
        text = house.record.to_json()
        assert HouseRecord.from_json(text) == house.record
        assert HouseRecord.from_json(text).to_json() == text


def test_a_text_that_is_no_record_is_refused_by_name(houses: dict[int, House]) -> None:
    data = json.loads(houses[0].record.to_json())
    del data["rooms"]
    for text in ("{", json.dumps(data), '{"seed": 1}'):
        with pytest.raises(ValueError, match="house record"):
            HouseRecord.from_json(text)


def test_every_name_of_the_record_is_in_the_model(houses: dict[int, House]) -> None:
    for house in houses.values():
        model, record = house.spec().compile(), house.record
        bodies = {model.body(i).name for i in range(model.nbody)}
        joints = {model.joint(i).name for i in range(model.njnt)}
        assert {o.body for o in record.objects} <= bodies
        assert {f.body for f in record.furniture} <= bodies
        assert {d.body for d in record.doors} | {c.body for c in record.containers} <= bodies
        assert {d.joint for d in record.doors} | {j for c in record.containers for j in c.joints} == joints
        for entity_ids in ([o.id for o in record.objects], [c.id for c in record.containers]):
            assert len(set(entity_ids)) == len(entity_ids)


def test_a_house_has_what_a_home_has(houses: dict[int, House]) -> None:
    kinds = {c.category for h in houses.values() for c in h.record.containers}
    assert kinds == {"fridge", "cabinet", "drawer"}
    furniture = {f.category for h in houses.values() for f in h.record.furniture}
    assert furniture >= {
        "sofa",
        "bed",
        "dining_table",
        "chair",
        "toilet",
        "sink",
        "bathtub",
        "tv_stand",
        "rug",
        "picture",
    }
    for house in houses.values():
        assert any(r.kind == "kitchen" for r in house.record.rooms)
        assert len([o for o in house.record.objects if o.target]) >= 15


def test_there_are_over_thirty_target_categories_and_no_two_look_alike() -> None:
    targets = target_categories()
    assert len(targets) >= 30
    assert set(targets) >= {"egg", "tomato", "apple", "lettuce", "potato", "plate", "mug", "book"}
    kinds = object_kinds()
    looks = {}
    for name in targets:
        shapes = kinds[name].build(np.random.default_rng(0))
        looks[name] = tuple((s.kind, tuple(round(h, 3) for h in s.half)) for s in shapes)
    assert len(set(looks.values())) == len(targets)


def test_objects_rest_on_what_carries_them(houses: dict[int, House]) -> None:
    for house in houses.values():
        for thing in house.record.objects:
            bottom = thing.position[2] - thing.size[2] / 2
            # Bounds of round and tilted parts are generous by a centimetre or so.
            assert thing.support_height - 0.03 <= bottom <= thing.support_height + 0.02, thing


def test_contents_belong_to_exactly_one_container(houses: dict[int, House]) -> None:
    for house in houses.values():
        inside = [name for c in house.record.containers for name in c.contents]
        assert len(set(inside)) == len(inside)
        assert set(inside) == {o.id for o in house.record.objects if o.container is not None}


def test_doors_start_as_asked() -> None:
    assert all(d.initial_qpos == pytest.approx(0.9 * d.open_qpos) for d in house_of(1, "open").record.doors)
    assert all(d.initial_qpos == 0.0 for d in house_of(1, "closed").record.doors)
    mixed = {d.initial_qpos > 0 for seed in (0, 1) for d in house_of(seed, "mixed").record.doors}
    assert mixed == {True, False}


def test_an_accepted_house_can_be_rebuilt_and_another_is_refused() -> None:
    accepted = generate_house(3, find_robot("cobot_magic"))
    assert all(check.passed for check in accepted.checks)
    record = accepted.house.record
    assert rebuild_house(3, record.sub_seed, xml_sha256=record.xml_sha256).record == record
    with pytest.raises(UsageError, match="differs"):
        rebuild_house(4, 0, xml_sha256=record.xml_sha256)


@pytest.mark.parametrize(("rooms", "doors"), [(2, "open"), (11, "open"), (5, "ajar")])
def test_values_that_are_not_allowed_are_named(rooms: int, doors: str) -> None:
    with pytest.raises(UsageError, match=r"allowed"):
        generate_house(1, find_robot("cobot_magic"), rooms, doors)


def test_the_written_model_loads_from_its_directory(tmp_path: Path, houses: dict[int, House]) -> None:
    path = houses[0].write(tmp_path)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.ngeom > 400
    assert HouseRecord.from_json((tmp_path / "house.json").read_text()) == houses[0].record


def test_room_at_answers_by_floor(houses: dict[int, House]) -> None:
    record = houses[0].record
    for room in record.rooms:
        assert record.room_at((room.rect[0] + room.rect[2]) / 2, (room.rect[1] + room.rect[3]) / 2) == room.id
    assert record.room_at(-5.0, -5.0) is None
    assert dataclasses.is_dataclass(record)
