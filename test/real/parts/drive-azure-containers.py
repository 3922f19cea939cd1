# Azure's own client for container instances drives the simulated Azure: drive-azure-containers.py ADDRESS SUBSCRIPTION TOKEN NAME
# The name is of a group that Muster made there. Prints what it saw as one object.
import json
import sys

from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.containerinstance import ContainerInstanceManagementClient

address, subscription, token, ours = sys.argv[1:]
GROUP = "velda"
IMAGE = "mcr.microsoft.com/azuredocs/aci-helloworld:latest"


class Plain(SansIOHTTPPolicy):
    """Its own policy sends tokens by TLS alone; the simulation is on loopback."""

    def on_request(self, request):
        request.http_request.headers["Authorization"] = f"Bearer {token}"


class Nobody:
    def get_token(self, *scopes, **more):
        return AccessToken("unused", 2**40)


client = ContainerInstanceManagementClient(
    Nobody(), subscription, base_url=address, authentication_policy=Plain(), retry_total=0, polling_interval=0.1
)
groups, containers = client.container_groups, client.containers


def refusal(call):
    try:
        call()
        return None
    except HttpResponseError as error:
        return [error.status_code, error.error.code if error.error else None]


def group(image=IMAGE, cpu=1.0, port=80, **more):
    return {
        "location": "westeurope",
        "tags": {"from": "referee"},
        "properties": {
            "osType": "Linux",
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "web",
                    "properties": {
                        "image": image,
                        "ports": [{"port": 80}],
                        "resources": {"requests": {"cpu": cpu, "memoryInGB": 1.5}},
                        "environmentVariables": [{"name": "OPEN", "value": "1"}, {"name": "SECRET", "secureValue": "no"}],
                    },
                }
            ],
            "ipAddress": {"type": "Public", "ports": [{"protocol": "TCP", "port": port}]},
            **more,
        },
    }


def put(name, body):
    return groups.begin_create_or_update(GROUP, name, body).result()


made = put("py-1", group())
first = groups.get(GROUP, ours)
container = first.containers[0]
result = {
    "made": [made.name, made.provisioning_state, made.tags["from"], made.restart_policy],
    "state": [made.instance_view.state, made.containers[0].instance_view.current_state.state],
    "variables": [[one.name, one.value, one.secure_value] for one in made.containers[0].environment_variables],
    "address": [made.ip_address.type, made.ip_address.ip is not None, made.ip_address.ports[0].port],
    "pages": [len(list(page)) for page in groups.list_by_resource_group(GROUP).by_page()],
    "log": containers.list_logs(GROUP, "py-1", "web", tail=3).content,
    "badImage": refusal(lambda: put("py-2", group(image="velda.azurecr.io/other:1"))),
    "badSize": refusal(lambda: put("py-2", group(cpu=64))),
    "badPort": refusal(lambda: put("py-2", group(port=81))),
    # Its models would leave an unknown field out.
    "badField": refusal(lambda: put("py-2", json.dumps(group(restart="Never")).encode())),
    "badName": refusal(lambda: put("Py_2", group())),
    "badGroup": refusal(lambda: list(groups.list_by_resource_group("nowhere"))),
    "missing": refusal(lambda: groups.get(GROUP, "py-9")),
    "ours": {
        "cluster": first.tags["muster-cluster"],
        "policy": first.restart_policy,
        "container": [container.name, container.image, container.resources.requests.cpu, container.resources.requests.memory_in_gb],
        "variables": [[one.name, one.value, one.secure_value] for one in container.environment_variables],
        "mounts": [[one.name, one.mount_path, one.read_only] for one in container.volume_mounts],
        "secret": first.volumes[0].secret,
        "port": [first.ip_address.type, first.ip_address.ports[0].port, first.ip_address.ports[0].protocol],
        "login": [[one.server, one.username, one.password] for one in first.image_registry_credentials],
    },
}
groups.stop(GROUP, "py-1")
result["stopped"] = groups.get(GROUP, "py-1").instance_view.state
groups.begin_delete(GROUP, "py-1").result()
result["gone"] = refusal(lambda: groups.get(GROUP, "py-1"))
print(json.dumps(result))
