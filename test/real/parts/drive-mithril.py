# Drives the fake Mithril with Mithril's own client, and prints what it understood as one object.
import json
import sys
import time

from mithril.api.bindings import AuthenticatedClient
from mithril.api.bindings.api.instance_types import get_instance_types_v2_instance_types_get as types
from mithril.api.bindings.api.instances import get_instances_v2_instances_get as instances
from mithril.api.bindings.api.pricing import get_current_prices_v2_v2_pricing_current_get as prices
from mithril.api.bindings.api.projects import get_projects_v2_projects_get as projects
from mithril.api.bindings.api.spot import cancel_bid_v2_spot_bids_bid_fid_delete as cancel
from mithril.api.bindings.api.spot import create_bid_v2_spot_bids_post as create
from mithril.api.bindings.api.spot import get_auctions_v2_spot_availability_get as auctions
from mithril.api.bindings.api.spot import get_bid_v2_spot_bids_bid_fid_get as get
from mithril.api.bindings.api.spot import get_bids_v2_spot_bids_get as bids
from mithril.api.bindings.api.spot import update_bid_v2_spot_bids_bid_fid_patch as update
from mithril.api.bindings.api.ssh_keys import get_ssh_keys_v2_ssh_keys_get as keys
from mithril.api.bindings.models import CreateBidRequest, LaunchSpecificationModel, UpdateBidRequest

address = sys.argv[1]
client = AuthenticatedClient(base_url=address, token="simulated")
PROJECT = "proj_abc123"


def request(name, **more):
    launch = LaunchSpecificationModel(volumes=[], ssh_keys=more.pop("ssh_keys", ["key_xyz"]))
    fields = {"region": "us-west-2", "instance_type": "it_8xh1001", "limit_price": "$4.50", **more}
    return CreateBidRequest(project=PROJECT, name=name, instance_quantity=1, launch_specification=launch, **fields)


def until(what, look):
    for _ in range(100):
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit("never: " + what)


def every_page():
    found, cursor = [], None
    while True:
        page = bids.sync(client=client, project=PROJECT, limit=1, **({"next_cursor": cursor} if cursor else {}))
        found += page.data
        cursor = page.next_cursor
        if not cursor:
            return found


def refused(name, **more):
    answer = create.sync_detailed(client=client, body=request(name, **more))
    return [answer.status_code.value, answer.parsed.detail[0].loc, answer.parsed.detail[0].msg]


def status(bid):
    return get.sync(bid.fid, client=client).status.value


made = [create.sync(client=client, body=request("ref-" + number)) for number in ["1", "2"]]
low = create.sync(client=client, body=request("ref-low", limit_price="$3.00"))
until("both are allocated", lambda: all(status(one) == "Allocated" for one in made))
listed = until("listed", lambda: len(every_page()) >= 4 and every_page())
ours = next(one for one in listed if not one.name.startswith("ref-"))
running = until(
    "they run",
    lambda: [
        one
        for one in instances.sync(client=client, project=PROJECT, limit=50).data
        if one.status.value == "STATUS_RUNNING"
    ],
)
open_bid = status(low)
paused = update.sync(made[0].fid, client=client, body=UpdateBidRequest(paused=True)).status.value
for one in [*made, low]:
    cancel.sync_detailed(one.fid, client=client)
until("ended", lambda: all(status(one) == "Terminated" for one in [*made, low]))
wrong = AuthenticatedClient(base_url=address, token="fkey_wrong")
price = prices.sync(client=client, instance_type="it_8xh1001", region="us-west-2")
print(
    json.dumps(
        {
            "projects": [one.fid for one in projects.sync(client=client)],
            "keys": [one.fid for one in keys.sync(client=client, project=PROJECT)],
            "types": sorted({one.name for one in types.sync(client=client)}),
            "auction": [one.last_instance_price for one in auctions.sync(client=client) if one.fid == "auc_it_8xh1001"],
            "price": price.spot_price_cents,
            "made": [[one.name, one.limit_price, one.launch_specification.ssh_keys] for one in made],
            "listed": sorted(one.name for one in listed if one.name.startswith("ref-")),
            "running": sorted({one.bid in [bid.fid for bid in listed] for one in running}),
            "open": open_bid,
            "paused": paused,
            "ours": {
                "name": ours.name,
                "limit_price": ours.limit_price,
                "quantity": ours.instance_quantity,
                "script": ours.launch_specification.startup_script[:2],
            },
            "badKey": refused("x", ssh_keys=["key_none"]),
            "badType": refused("x", instance_type="it_none"),
            "lowPrice": refused("x", limit_price="$0.50"),
            "gone": get.sync_detailed("bid_99999999", client=client).status_code.value,
            "wrongToken": bids.sync_detailed(client=wrong, project=PROJECT).status_code.value,
        }
    )
)
