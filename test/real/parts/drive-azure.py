# Azure's own client for Python drives the simulated Azure: drive-azure.py ADDRESS SUBSCRIPTION TOKEN NAME NAME
# The names are machines that Muster made there, alone and in a scale set. Prints what it saw as one object.
import json
import sys

from azure.core.credentials import AccessToken
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.compute import ComputeManagementClient

address, subscription, token, alone, in_set = sys.argv[1:]
GROUP = "velda"
SUBNET = f"/subscriptions/{subscription}/resourceGroups/{GROUP}/providers/Microsoft.Network/virtualNetworks/velda-network/subnets/agents"


class Plain(SansIOHTTPPolicy):
    """Its own policy sends tokens by TLS alone; the simulation is on loopback."""

    def __init__(self, sent):
        self.sent = sent

    def on_request(self, request):
        if self.sent is not None:
            request.http_request.headers["Authorization"] = f"Bearer {self.sent}"


class Nobody:
    def get_token(self, *scopes, **more):
        return AccessToken("unused", 2**40)


def client_with(sent):
    return ComputeManagementClient(
        Nobody(), subscription, base_url=address, authentication_policy=Plain(sent), retry_total=0, polling_interval=0.1
    )


def refusal(call):
    try:
        call()
        return None
    except HttpResponseError as error:
        return [error.status_code, error.error.code if error.error else None, error.error.message if error.error else ""]


def network(name, subnet=SUBNET):
    ip = {"name": "ip", "properties": {"subnet": {"id": subnet}}}
    nic = {"name": name, "properties": {"deleteOption": "Delete", "ipConfigurations": [ip]}}
    return {"networkApiVersion": "2022-11-01", "networkInterfaceConfigurations": [nic]}


STORAGE = {
    "imageReference": {"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"},
    "osDisk": {"createOption": "FromImage", "deleteOption": "Delete"},
}


def machine(size="Standard_D2s_v5", subnet=SUBNET, **more):
    return {
        "location": "westeurope",
        "tags": {"from": "referee"},
        "properties": {
            "hardwareProfile": {"vmSize": size},
            "storageProfile": STORAGE,
            "osProfile": {"computerName": "ref", "adminUsername": "azureuser", "adminPassword": "not a real one"},
            "networkProfile": network("ref-nic", subnet),
            **more,
        },
    }


SET = {
    "location": "westeurope",
    "sku": {"name": "Standard_D2s_v5", "capacity": 2},
    "properties": {
        "orchestrationMode": "Flexible",
        "platformFaultDomainCount": 1,
        "virtualMachineProfile": {
            "storageProfile": STORAGE,
            "osProfile": {"computerNamePrefix": "ref", "adminUsername": "azureuser", "adminPassword": "not a real one"},
            "networkProfile": network("ref-nic"),
        },
    },
}

client = client_with(token)
vms, sets = client.virtual_machines, client.virtual_machine_scale_sets


def drive_machines():
    made = vms.begin_create_or_update(GROUP, "py-1", machine()).result()
    pages = [[one.name for one in page] for page in vms.list(GROUP).by_page()]
    first, second = vms.get(GROUP, alone), vms.get(GROUP, in_set)
    nic = first.properties.network_profile.network_interface_configurations[0]
    result = {
        "made": [made.name, made.properties.provisioning_state, made.tags["from"], made.properties.time_created.year > 2000],
        "pages": [len(page) for page in pages],
        "listed": sorted(name for page in pages for name in page),
        "power": [one.code for one in vms.instance_view(GROUP, "py-1").statuses],
        "badSize": refusal(lambda: vms.begin_create_or_update(GROUP, "py-2", machine("Standard_X")))[:2],
        "badSubnet": refusal(lambda: vms.begin_create_or_update(GROUP, "py-2", machine(subnet=f"{SUBNET}x")))[:2],
        "badField": refusal(lambda: vms.begin_create_or_update(GROUP, "py-2", machine(eviction="Delete")))[:2],
        "badGroup": refusal(lambda: list(vms.list("nowhere")))[:2],
        "missing": refusal(lambda: vms.get(GROUP, "py-9"))[:2],
        "wrongToken": refusal(lambda: client_with("made-up").virtual_machines.get(GROUP, "py-1"))[:2],
        "noToken": refusal(lambda: client_with(None).virtual_machines.get(GROUP, "py-1"))[:2],
        "ours": {
            "cluster": first.tags["muster-cluster"],
            "size": first.properties.hardware_profile.vm_size,
            "priority": first.properties.priority,
            "disk": [first.properties.storage_profile.os_disk.name, first.properties.storage_profile.os_disk.delete_option],
            "key": first.properties.os_profile.linux_configuration.ssh.public_keys[0].key_data[:12],
            "interface": [nic.name, nic.properties.delete_option],
            "subnet": nic.properties.ip_configurations[0].properties.subnet.id == SUBNET,
            "set": second.properties.virtual_machine_scale_set.id.split("/")[-1],
        },
    }
    vms.begin_delete(GROUP, "py-1", force_deletion=True).result()
    result["gone"] = refusal(lambda: vms.get(GROUP, "py-1"))[:2]
    return result


def drive_sets():
    made = sets.begin_create_or_update(GROUP, "py-set", SET).result()
    inside = client.virtual_machine_scale_set_vms.list(GROUP, "py-set")
    result = {
        "made": [made.name, made.sku.capacity, made.properties.provisioning_state, made.properties.orchestration_mode],
        "listed": sorted(one.name for one in sets.list(GROUP)),
        "machines": [one.name.split("_")[0] for one in inside],
        "badMode": refusal(
            lambda: sets.begin_create_or_update(GROUP, "py-x", {**SET, "properties": {"orchestrationMode": "Both"}})
        )[:2],
        "missing": refusal(lambda: sets.get(GROUP, "py-x"))[:2],
    }
    sets.begin_delete(GROUP, "py-set").result()
    result["gone"] = refusal(lambda: sets.get(GROUP, "py-set"))[:2]
    return result


print(json.dumps({"machines": drive_machines(), "sets": drive_sets()}))
