# Google's own client for Python drives the simulated Cloud Run: drive-run.py ADDRESS TOKEN NAME
# The name is of a service that Muster made there. Prints what it saw as one object.
import json
import sys

from google.api_core.exceptions import GoogleAPICallError
from google.auth.credentials import Credentials
from google.cloud import run_v2
from google.cloud.run_v2.services.revisions.transports.rest import RevisionsRestTransport
from google.cloud.run_v2.services.services.transports.rest import ServicesRestTransport

address, token, own_name = sys.argv[1:]
PARENT = "projects/my-project/locations/us-central1"


class Token(Credentials):
    """A token that nobody renews."""

    def __init__(self, sent):
        super().__init__()
        self.token = sent

    def refresh(self, request):
        pass


def transport(kind, sent=token):
    return kind(host=address.removeprefix("http://"), url_scheme="http", credentials=Token(sent))


services = run_v2.ServicesClient(transport=transport(ServicesRestTransport))
revisions = run_v2.RevisionsClient(transport=transport(RevisionsRestTransport))


def refusal(call):
    try:
        call()
        return None
    except GoogleAPICallError as error:
        return [error.code, error.message.split(": ", 1)[-1]]


def wanted(image="us-docker.pkg.dev/cloudrun/container/hello", **more):
    container = run_v2.Container(
        image=image,
        env=[run_v2.EnvVar(name="GREETING", value="hi")],
        ports=[run_v2.ContainerPort(container_port=8000)],
        resources=run_v2.ResourceRequirements(limits={"cpu": "1", "memory": "512Mi"}, cpu_idle=False),
    )
    scaling = run_v2.RevisionScaling(min_instance_count=1, max_instance_count=1)
    return run_v2.Service(
        labels={"from": "referee"},
        ingress=run_v2.IngressTraffic.INGRESS_TRAFFIC_ALL,
        template=run_v2.RevisionTemplate(
            containers=[container],
            scaling=scaling,
            execution_environment=run_v2.ExecutionEnvironment.EXECUTION_ENVIRONMENT_GEN2,
        ),
        **more,
    )


def create(name, service=None):
    return services.create_service(parent=PARENT, service_id=name, service=service or wanted())


def named(service):
    return service.name.split("/")[-1]


made = create("py-a").result()
create("py-b").result()
pages = [[named(one) for one in page.services] for page in services.list_services(parent=PARENT).pages]
ours = services.get_service(name=f"{PARENT}/services/{own_name}")
container = ours.template.containers[0]
wrong = run_v2.ServicesClient(transport=transport(ServicesRestTransport, "made-up"))
seen = {
    "made": [
        named(made),
        made.terminal_condition.state.name,
        made.reconciling,
        made.ingress.name,
        made.template.containers[0].env[0].value,
        made.uri.startswith("https://py-a-"),
    ],
    "pages": [len(page) for page in pages],
    "listed": sorted(name for page in pages for name in page),
    "revisions": [
        one.name.split("/")[-1].startswith("py-a-00001-")
        for one in revisions.list_revisions(parent=f"{PARENT}/services/py-a")
    ],
    "twice": refusal(lambda: create("py-a")),
    "badName": refusal(lambda: create("Py_A"))[0],
    "longName": refusal(lambda: create("p" * 50))[0],
    "missing": refusal(lambda: create("py-c", wanted("host.example/nothing:1")).result()),
    "staleEtag": refusal(lambda: services.delete_service(request={"name": made.name, "etag": '"old"'}))[0],
    "wrongToken": refusal(lambda: wrong.get_service(name=made.name))[0],
    "ours": {
        "labels": sorted(ours.labels),
        "state": ours.terminal_condition.state.name,
        "ingress": ours.ingress.name,
        "isPublic": ours.invoker_iam_disabled,
        "scaling": [ours.template.scaling.min_instance_count, ours.template.scaling.max_instance_count],
        "cpuIdle": container.resources.cpu_idle,
        "limits": dict(container.resources.limits),
        "port": container.ports[0].container_port,
        "probe": [container.startup_probe.http_get.path, container.startup_probe.http_get.port],
        "variables": [one.name for one in container.env],
        "environment": ours.template.execution_environment.name,
        "account": ours.template.service_account.split("@")[0],
    },
}
for name in ["py-a", "py-b", "py-c"]:
    services.delete_service(name=f"{PARENT}/services/{name}").result()
seen["left"] = [named(one) for one in services.list_services(parent=PARENT)]
seen["gone"] = refusal(lambda: services.get_service(name=made.name))[0]
seen["revisionsGone"] = refusal(lambda: list(revisions.list_revisions(parent=made.name)))[0]
print(json.dumps(seen))
