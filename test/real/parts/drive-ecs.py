# Amazon's own client for Python drives the simulated ECS: drive-ecs.py SUBNET NAME
# The name is of a task that Muster made there. Prints what it saw as one object.
import json
import sys
import time

import boto3
from botocore.exceptions import ClientError

subnet, own_name = sys.argv[1:]
ecs = boto3.client("ecs")
NETWORK = {"awsvpcConfiguration": {"subnets": [subnet], "assignPublicIp": "ENABLED"}}


def refusal(call):
    try:
        call()
        return None
    except ClientError as error:
        return error.response["Error"]["Code"]


def register(family, **more):
    container = {"name": "web", "image": "nginx", "essential": True, "environment": [{"name": "A", "value": "1"}]}
    size = {"cpu": "256", "memory": "512", "networkMode": "awsvpc", "requiresCompatibilities": ["FARGATE"]}
    words = {**size, "containerDefinitions": [container], **more}
    return ecs.register_task_definition(family=family, **words)["taskDefinition"]


def start(definition, **more):
    words = {"networkConfiguration": NETWORK, "startedBy": "referee", **more}
    return ecs.run_task(taskDefinition=definition, launchType="FARGATE", **words)["tasks"][0]


def described(*arns):
    return ecs.describe_tasks(tasks=list(arns), include=["TAGS"])["tasks"]


def settled(arn, status):
    for _ in range(300):
        (task,) = described(arn)
        if task["lastStatus"] == status:
            return task
        time.sleep(0.1)
    raise TimeoutError(status)


def revisions(status):
    return ecs.list_task_definitions(familyPrefix="referee", status=status)["taskDefinitionArns"]


def ours():
    everything = [arn for page in ecs.get_paginator("list_tasks").paginate() for arn in page["taskArns"]]
    for task in described(*everything):
        tags = {one["key"]: one["value"] for one in task["tags"]}
        if tags.get("muster:name") == own_name:
            return task, tags


first, second = register("referee"), register("referee")
tag = [{"key": "from", "value": "referee"}]
one = start("referee:1", clientToken="token-1", tags=tag)
same = start("referee:1", clientToken="token-1", tags=tag)
other_words = refusal(lambda: start("referee:2", clientToken="token-1", tags=tag))
two = start("referee", clientToken="token-2")
running = settled(one["taskArn"], "RUNNING")
pages = [len(page["taskArns"]) for page in ecs.get_paginator("list_tasks").paginate(startedBy="referee", PaginationConfig={"PageSize": 1})]
task, tags = ours()
definition = ecs.describe_task_definition(taskDefinition=task["taskDefinitionArn"])["taskDefinition"]
container = definition["containerDefinitions"][0]
(override,) = task["overrides"]["containerOverrides"]

seen = {
    "revisions": [first["revision"], second["revision"]],
    "started": [one["lastStatus"], one["launchType"], running["tags"]],
    "sameToken": [same["taskArn"] == one["taskArn"], other_words],
    "pages": pages,
    "refused": {
        "cluster": refusal(lambda: start("referee", cluster="nowhere")),
        "subnet": refusal(lambda: start("referee", networkConfiguration={"awsvpcConfiguration": {"subnets": ["subnet-none"]}})),
        "definition": refusal(lambda: start("nobody")),
        "size": refusal(lambda: register("odd", cpu="256", memory="16384")),
        "listing": refusal(lambda: ecs.list_tasks(startedBy="referee", family="referee")),
        "task": refusal(lambda: ecs.stop_task(task="0" * 32)),
    },
    # What we send means to Amazon's client what we mean.
    "ours": {
        "tags": sorted(tags),
        "startedBy": task["startedBy"],
        "size": [task["cpu"], task["memory"]],
        "container": [container["name"], container["image"], container["essential"], container["stopTimeout"]],
        "init": container["linuxParameters"]["initProcessEnabled"],
        "variables": [one["name"] for one in override["environment"]],
        "definition": container["environment"],
    },
}
for arn in [one["taskArn"], two["taskArn"]]:
    ecs.stop_task(task=arn, reason="The referee has seen enough.")
stopped = settled(one["taskArn"], "STOPPED")
seen["stopped"] = [stopped["stopCode"], stopped["stoppedReason"], stopped["tags"]]
seen["tooEarly"] = ecs.delete_task_definitions(taskDefinitions=["referee:1"])["failures"][0]["reason"]
for named in ["referee:1", "referee:2"]:
    ecs.deregister_task_definition(taskDefinition=named)
seen["inactive"] = [len(revisions("ACTIVE")), len(revisions("INACTIVE")), refusal(lambda: start("referee:2"))]
settled(two["taskArn"], "STOPPED")
ecs.delete_task_definitions(taskDefinitions=["referee:1", "referee:2"])
seen["left"] = [len(revisions(status)) for status in ["ACTIVE", "INACTIVE", "DELETE_IN_PROGRESS"]]
print(json.dumps(seen))
