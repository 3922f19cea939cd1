# Google's own client for Python drives the simulated Compute Engine: drive-compute.py ADDRESS TOKEN NAME NAME
# The names are machines that Muster made there, in the group and beside it. Prints what it saw as one object.
import json
import sys
import time

from google.api_core.exceptions import GoogleAPICallError
from google.auth.credentials import Credentials
from google.cloud import compute_v1
from google.cloud.compute_v1.services.instance_group_managers.transports.rest import InstanceGroupManagersRestTransport
from google.cloud.compute_v1.services.instances.transports.rest import InstancesRestTransport
from google.cloud.compute_v1.services.zone_operations.transports.rest import ZoneOperationsRestTransport

address, token, managed_name, own_name = sys.argv[1:]
PLACE = {"project": "my-project", "zone": "us-central1-a"}
GROUP = {**PLACE, "instance_group_manager": "velda-workers"}


class Token(Credentials):
    """A token that nobody renews."""

    def __init__(self, sent):
        super().__init__()
        self.token = sent

    def refresh(self, request):
        pass


def transport(kind, sent=token):
    return kind(host=address.removeprefix("http://"), url_scheme="http", credentials=Token(sent))


instances = compute_v1.InstancesClient(transport=transport(InstancesRestTransport))
managers = compute_v1.InstanceGroupManagersClient(transport=transport(InstanceGroupManagersRestTransport))
operations = compute_v1.ZoneOperationsClient(transport=transport(ZoneOperationsRestTransport))


def refusal(call):
    try:
        call()
        return None
    except GoogleAPICallError as error:
        return [error.code, error.message.split(": ", 1)[-1]]


def ended(operation):
    """The operation itself when it is done: a failed one is no exception here."""
    while True:
        now = operations.wait(operation=operation.name, **PLACE)
        if now.status == compute_v1.Operation.Status.DONE:
            return now


def until(look):
    while not (seen := look()):
        time.sleep(0.1)
    return seen


def bulk(names, machine_type="e2-small", network="global/networks/default", **more):
    image = "projects/debian-cloud/global/images/family/debian-12"
    disk = compute_v1.AttachedDiskInitializeParams(source_image=image)
    return compute_v1.BulkInsertInstanceResource(
        count=len(names),
        min_count=1,
        per_instance_properties={
            name: compute_v1.BulkInsertInstanceResourcePerInstanceProperties() for name in names
        },
        instance_properties=compute_v1.InstanceProperties(
            machine_type=machine_type,
            labels={"from": "referee"},
            disks=[compute_v1.AttachedDisk(boot=True, auto_delete=True, initialize_params=disk)],
            network_interfaces=[compute_v1.NetworkInterface(network=network)],
            **more,
        ),
    )


def insert(resource):
    return instances.bulk_insert_unary(bulk_insert_instance_resource_resource=resource, **PLACE)


def drive_group():
    wanted = compute_v1.InstanceGroupManagersCreateInstancesRequest(
        instances=[
            compute_v1.PerInstanceConfig(
                name=name, preserved_state=compute_v1.PreservedState(metadata={"who": "referee"})
            )
            for name in ["py-a", "py-b"]
        ]
    )
    create = lambda: managers.create_instances_unary(
        instance_group_managers_create_instances_request_resource=wanted, **GROUP
    )
    ended(create())
    listed = lambda: list(managers.list_managed_instances(**GROUP))
    pages = [len(page.managed_instances) for page in managers.list_managed_instances(**GROUP).pages]
    ours = next(one for one in listed() if one.name == managed_name)
    made = until(lambda: next((one for one in listed() if one.name == "py-a" and one.instance_status == "RUNNING"), None))
    result = {
        "listed": sorted(one.name for one in listed()),
        "pages": pages,
        "made": [made.current_action, dict(made.preserved_state_from_config.metadata)],
        "twice": refusal(create),
        "ours": [ours.current_action, sorted(ours.preserved_state_from_config.metadata)],
        "template": managers.get(**GROUP).instance_template.split("/")[-1],
    }
    gone = compute_v1.InstanceGroupManagersDeleteInstancesRequest(
        instances=[f"zones/us-central1-a/instances/{name}" for name in ["py-a", "py-b"]]
    )
    ended(managers.delete_instances_unary(instance_group_managers_delete_instances_request_resource=gone, **GROUP))
    until(lambda: all(one.name != "py-a" for one in listed()))
    result["size"] = managers.get(**GROUP).target_size
    return result


def drive_instances():
    done = ended(insert(bulk(["py-1", "py-2", "py-3"])))
    request = compute_v1.ListInstancesRequest(filter="labels.from=referee", **PLACE)
    pages = [[one.name for one in page.items] for page in instances.list(request=request).pages]
    ours = instances.get(instance=own_name, **PLACE)
    scopes = instances.aggregated_list(
        request=compute_v1.AggregatedListInstancesRequest(project="my-project", filter="labels.muster-cluster=cluster1")
    )
    wrong = compute_v1.InstancesClient(transport=transport(InstancesRestTransport, "made-up"))
    account = compute_v1.ServiceAccount(email="nobody@my-project.iam.gserviceaccount.com", scopes=[])
    result = {
        "done": [str(done.operation_type), done.progress],
        "pages": [len(page) for page in pages],
        "listed": sorted(name for page in pages for name in page),
        "scopes": [[scope, [one.name for one in some.instances]] for scope, some in scopes if some.instances],
        "badNetwork": refusal(lambda: insert(bulk(["py-4"], network="global/networks/nowhere"))),
        "badType": refusal(lambda: insert(bulk(["py-4"], machine_type="e2-nothing")))[0],
        "badAccount": refusal(lambda: insert(bulk(["py-4"], service_accounts=[account])))[0],
        "wrongToken": refusal(lambda: wrong.get(instance="py-1", **PLACE))[0],
        "ours": [
            ours.machine_type.split("/")[-1],
            ours.status,
            ours.scheduling.provisioning_model,
            sorted(ours.labels),
            ours.network_interfaces[0].network_i_p.startswith("10."),
        ],
    }
    for name in ["py-1", "py-2", "py-3"]:
        ended(instances.delete_unary(instance=name, **PLACE))
    result["gone"] = refusal(lambda: instances.get(instance="py-1", **PLACE))[0]
    return result


print(json.dumps({"group": drive_group(), "instances": drive_instances()}))
