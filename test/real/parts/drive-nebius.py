# Drives the fake Nebius with Nebius's own client, and prints what it understood as one object.
import json
import sys
from asyncio import run, sleep

from nebius.aio.service_error import RequestError
from nebius.api.nebius.common.v1 import GetByNameRequest, ResourceMetadata
from nebius.api.nebius.compute.v1 import (
    AttachedDiskSpec,
    BatchGetRequest,
    CreateInstanceRequest,
    DeleteInstanceRequest,
    DiskSpec,
    GetImageLatestByFamilyRequest,
    GetInstanceRequest,
    ImageServiceClient,
    InstanceServiceClient,
    InstanceSpec,
    IPAddress,
    ListInstancesRequest,
    ListPlatformsRequest,
    ManagedDisk,
    NetworkInterfaceSpec,
    PlatformServiceClient,
    ResourcesSpec,
    StartInstanceRequest,
    StopInstanceRequest,
)
from nebius.base.options import INSECURE
from nebius.base.resolver import Constant
from nebius.sdk import SDK

address, key_file, our_name = sys.argv[1:]
PROJECT = "folder-abc123"


IMAGE = "computeimage-ubuntu24.04-cuda13.0"


def request(name, preset="1gpu-16vcpu-200gb", subnet="subnet-xyz", image=IMAGE, project=PROJECT):
    disk = DiskSpec(size_gibibytes=40, type=DiskSpec.DiskType.NETWORK_SSD, source_image_id=image)
    return CreateInstanceRequest(
        metadata=ResourceMetadata(parent_id=project, name=name, labels={"referee": "yes"}),
        spec=InstanceSpec(
            resources=ResourcesSpec(platform="gpu-h200-sxm", preset=preset),
            network_interfaces=[NetworkInterfaceSpec(subnet_id=subnet, name="eth0", ip_address=IPAddress())],
            boot_disk=AttachedDiskSpec(
                attach_mode=AttachedDiskSpec.AttachMode.READ_WRITE,
                managed_disk=ManagedDisk(name=name + "-boot", spec=disk),
            ),
        ),
    )


async def refusal(call):
    try:
        await call
        return None
    except RequestError as error:
        status = error.status
        if not status.service_errors:
            return [status.code.name]
        first = status.service_errors[0]
        return [status.code.name, first.code, first.details.field if first.details else None]


async def every_page(service):
    names, token = [], ""
    while True:
        page = await service.list(ListInstancesRequest(parent_id=PROJECT, page_size=1, page_token=token))
        names += [one.metadata.name for one in page.items]
        token = page.next_page_token
        if not token:
            return sorted(names)


async def main():
    sdk = SDK(
        credentials_file_name=key_file,
        resolver=Constant(address),
        options=[(INSECURE, True)],
        user_agent_prefix="referee/1.0",
    )
    instances = InstanceServiceClient(sdk)
    state = lambda one: one.status.state.name
    platforms = await PlatformServiceClient(sdk).list(ListPlatformsRequest(parent_id=PROJECT))
    image = await ImageServiceClient(sdk).get_latest_by_family(
        GetImageLatestByFamilyRequest(image_family="ubuntu24.04-cuda13.0")
    )
    made = []
    for name in ["ref-1", "ref-2"]:
        operation = await instances.create(request(name))
        await operation.wait(interval=0.2)
        made.append(operation.resource_id)
    one = await instances.get(GetInstanceRequest(id=made[0]))
    same = await instances.get_by_name(GetByNameRequest(parent_id=PROJECT, name="ref-2"))
    batch = await instances.batch_get(BatchGetRequest(instance_ids=[*made, "computeinstance-none"]))
    await sleep(1)
    listed = await every_page(instances)
    stopped = await instances.stop(StopInstanceRequest(id=made[0]))
    await stopped.wait(interval=0.2)
    asleep = await instances.get(GetInstanceRequest(id=made[0]))
    started = await instances.start(StartInstanceRequest(id=made[0]))
    await started.wait(interval=0.2)
    awake = await instances.get(GetInstanceRequest(id=made[0]))
    ours = await instances.get_by_name(GetByNameRequest(parent_id=PROJECT, name=our_name))
    bad_subnet = await refusal(instances.create(request("ref-3", subnet="subnet-none")))
    bad_image = await refusal(instances.create(request("ref-3", image="computeimage-none")))
    bad_project = await refusal(instances.create(request("ref-3", project="project-none")))
    bad = await refusal(instances.create(request("ref-3", "2gpu")))
    twice = await refusal(instances.create(request("ref-1")))
    full = await instances.create(request("no-room"))
    late = await refusal(full.wait(interval=0.2))
    for id in made:
        await (await instances.delete(DeleteInstanceRequest(id=id))).wait(interval=0.2)
    gone = await refusal(instances.get(GetInstanceRequest(id=made[0])))
    stranger = SDK(credentials="ne1wrong", resolver=Constant(address), options=[(INSECURE, True)])
    wrong_token = await refusal(InstanceServiceClient(stranger).get(GetInstanceRequest(id=made[1])))
    await stranger.close()
    print(
        json.dumps(
            {
                "platforms": sorted(each.metadata.name for each in platforms.items),
                "image": image.metadata.id,
                "made": [one.metadata.name, state(one), dict(one.metadata.labels), same.metadata.id == made[1]],
                "batch": sorted(len(str(key)) > 0 and value.which_field_in_oneof("result") for key, value in batch.items.items()),
                "listed": listed,
                "states": [state(asleep), state(awake)],
                "ours": {
                    "labels": dict(ours.metadata.labels),
                    "preset": ours.spec.resources.preset,
                    "subnet": ours.spec.network_interfaces[0].subnet_id,
                    "disk": ours.spec.boot_disk.managed_disk.spec.type.name,
                    "preemption": ours.spec.preemptible.on_preemption.name,
                    "hostname": ours.spec.hostname,
                },
                "badSubnet": bad_subnet,
                "badImage": bad_image,
                "badProject": bad_project,
                "wrongToken": wrong_token,
                "badPreset": bad,
                "twice": twice,
                "late": late,
                "gone": gone,
            }
        )
    )
    await sdk.close()


run(main())
