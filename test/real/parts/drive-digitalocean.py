# Drives the fake DigitalOcean with DigitalOcean's own client, and prints what it understood as one object.
import json
import sys
import time

from azure.core.exceptions import HttpResponseError
from pydo import Client

address, our_name = sys.argv[1:]
client = Client(token="simulated", endpoint=address, retry_total=0)
stranger = Client(token="dop_v1_wrong", endpoint=address, retry_total=0)
# The client sends tokens by TLS alone unless an option says otherwise; the fake listens on loopback.
plain = {"enforce_https": False}
GPU = "gpu-mi300x1-192gb-devcloud"


def droplet(**more):
    return {"region": "atl1", "size": GPU, "image": "amd-rocm71software", "ssh_keys": [7], **more}


def refusal(call):
    try:
        call()
        return None
    except HttpResponseError as error:
        answer = error.model if isinstance(error.model, dict) else json.loads(error.response.text())
        return [error.status_code, answer["id"], answer["message"]]


def until(what, look):
    for _ in range(100):
        found = look()
        if found:
            return found
        time.sleep(0.1)
    raise SystemExit("never: " + what)


def names(**query):
    listed = client.droplets.list(per_page=1, **query, **plain)
    found = list(listed["droplets"])
    page = 1
    while "pages" in listed["links"] and "next" in listed["links"]["pages"]:
        page += 1
        listed = client.droplets.list(per_page=1, page=page, **query, **plain)
        found += listed["droplets"]
    return sorted(one["name"] for one in found if one["name"].startswith("ref-"))


def status(id):
    return client.droplets.get(id, **plain)["droplet"]["status"]


def found_by(slug_or_id, items, *keys):
    return [one[keys[0]] for one in items if slug_or_id in [one[key] for key in keys]]


keys = client.ssh_keys.list(per_page=200, **plain)["ssh_keys"]
vpcs = client.vpcs.list(per_page=200, **plain)["vpcs"]
images = client.images.list(per_page=200, **plain)["images"]
our = until("ours is listed", lambda: [one for one in client.droplets.list(name=our_name, **plain)["droplets"]])[0]
account = client.account.get(**plain)["account"]
sizes = client.sizes.list(per_page=200, **plain)["sizes"]
regions = client.regions.list(per_page=200, **plain)["regions"]
many = client.droplets.create(body=droplet(names=["ref-1", "ref-2"], tags=["referee"]), **plain)
one = client.droplets.create(body=droplet(name="ref-3", size="s-1vcpu-1gb", tags=["referee"]), **plain)
ids = [each["id"] for each in many["droplets"]]
until("all run", lambda: all(status(id) == "active" for id in ids + [one["droplet"]["id"]]))
action = client.actions.get(many["links"]["actions"][0]["id"], **plain)["action"]
tagged = until("listed", lambda: names(tag_name="referee"))
gpus = until("GPUs listed", lambda: names(type="gpus"))
client.tags.create(body={"name": "ending"}, **plain)
resources = [{"resource_id": str(id), "resource_type": "droplet"} for id in ids]
client.tags.assign_resources("ending", body={"resources": resources}, **plain)
client.droplets.destroy_by_tag(tag_name="ending", **plain)
client.droplets.destroy(one["droplet"]["id"], **plain)
until("nothing is left", lambda: names(type="gpus") == [] and names(tag_name="referee") == [])
print(
    json.dumps(
        {
            "account": account["status"],
            "prices": {size["slug"]: size["price_hourly"] for size in sizes},
            "regions": len(regions),
            "made": [each["name"] for each in many["droplets"]],
            "action": [action["status"], action["type"], action["resource_id"] == ids[0]],
            "tagged": tagged,
            "gpus": gpus,
            "badSize": refusal(lambda: client.droplets.create(body=droplet(name="x", size="no-such"), **plain)),
            "keys": [one["id"] for one in keys],
            "vpc": found_by("atl1", vpcs, "id", "region"),
            "image": found_by("ubuntu-24-04-x64", images, "slug"),
            "ours": {
                "tags": sorted(our["tags"]),
                "size": our["size_slug"],
                "image": our["image"]["slug"],
                "vpc": our["vpc_uuid"],
                "region": our["region"]["slug"],
            },
            "badKey": refusal(lambda: client.droplets.create(body=droplet(name="x", ssh_keys=[8]), **plain)),
            "badVpc": refusal(lambda: client.droplets.create(body=droplet(name="x", vpc_uuid=keys[0]["name"]), **plain)),
            "badImage": refusal(lambda: client.droplets.create(body=droplet(name="x", image="none"), **plain)),
            "badField": refusal(lambda: client.droplets.create(body=droplet(name="x", nmae="y"), **plain)),
            "wrongToken": refusal(lambda: stranger.droplets.list(**plain)),
            "badName": refusal(lambda: client.droplets.create(body=droplet(name="a_b"), **plain)),
            "gone": client.droplets.get(ids[0], **plain)["id"],
        }
    )
)
