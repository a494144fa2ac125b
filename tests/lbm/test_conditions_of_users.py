"""A boundary condition that is written outside of the package, in one short file.

`test_steps_match_reference` and `test_features` run it in all patterns, in parts, on ranks and
after restarts, by its flow in `flows.FLOWS` and `flow_features.FEATURES`.
"""

import pytest

import lbm
from flows import case_text, follow, pair_in
from lbm_runs import call
from tank_outlet import TankOutlet

TANK = TankOutlet(1.0, capacity=2.0, resistance=0.3)


@pytest.mark.simulator
def test_it_matches_its_reference(device):
    walls = {"x-": lbm.PressureOutlet(1.01), "x+": TANK, "y-": lbm.NoSlip(), "y+": lbm.FreeSlip()}
    follow(*pair_in((5, 3, 2), {"boundaries": walls}, dtype="float64", device=device), 3)


def test_a_case_file_names_it_by_its_module(tmp_path, capsys):
    lines = """
[boundaries]
"x-" = { type = "velocity-inlet", velocity = [0.005, 0.0, 0.0] }
"x+" = { type = "tank_outlet:TankOutlet", capacity = 2.0, resistance = 0.3 }
y = "no-slip"

[output]
checkpoint = 5
"""
    path, out = tmp_path / "case.toml", tmp_path / "out"
    path.write_text(case_text((12, 6, 4), 5, lines))
    assert call(capsys, "run", path, "--out", out, "--device", "cpu")[0] == 0
    header = (out / "checkpoint.state").read_bytes()
    assert b"TankOutlet(rho=1.0, capacity=2.0, resistance=0.3)" in header
    for text, message in {
        "tank_outlet:TankOutlet": "unknown key 'boundaries.x+.capacit'",
        "tank_outlet:Nothing": "cannot be imported",
        "tank_outlet:lbm": "must name a class that derives from lbm.Condition",
    }.items():
        wrong = lines.replace("tank_outlet:TankOutlet", text).replace("capacity", "capacit")
        path.write_text(case_text((12, 6, 4), 5, wrong))
        status, _, err = call(capsys, "run", path, "--out", out, "--device", "cpu")
        assert status == 2
        assert message in err
