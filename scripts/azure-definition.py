"""Writes what the fake Azure checks requests against, from the models and operations of Azure's own clients:

  pip download --no-deps azure-mgmt-compute==38.2.0 azure-mgmt-network==33.1.0 azure-mgmt-containerservice==41.8.0 \
    azure-mgmt-monitor==7.0.0 azure-mgmt-resource-subscriptions==1.0.0 azure-mgmt-resource==26.0.0 \
    azure-appconfiguration==1.10.0 azure-mgmt-containerinstance==10.1.0
  for one in *.whl; do unzip "$one" -d FOLDER; done
  python3 scripts/azure-definition.py FOLDER

azure-mgmt-compute is the release whose version of the API is that of the provider (`COMPUTE_VERSION`).
"""

import ast
import json
import re
import sys
from pathlib import Path

COMPUTE = "azure/mgmt/compute"
NETWORK = "azure/mgmt/network"
RESOURCES = "azure/mgmt/resource/resources"
STORE = "azure/appconfiguration/_generated"
CONTAINERS = "azure/mgmt/containerinstance"

# By the name in the fake: package, operation, and the model of the body.
WANTED = {
    "vmPut": (COMPUTE, "virtual_machines_create_or_update", "VirtualMachine"),
    "vmGet": (COMPUTE, "virtual_machines_get", None),
    "vmView": (COMPUTE, "virtual_machines_instance_view", None),
    "vmEvict": (COMPUTE, "virtual_machines_simulate_eviction", None),
    "vmDelete": (COMPUTE, "virtual_machines_delete", None),
    "vmList": (COMPUTE, "virtual_machines_list", None),
    "setPut": (COMPUTE, "virtual_machine_scale_sets_create_or_update", "VirtualMachineScaleSet"),
    "setGet": (COMPUTE, "virtual_machine_scale_sets_get", None),
    "setDelete": (COMPUTE, "virtual_machine_scale_sets_delete", None),
    "setList": (COMPUTE, "virtual_machine_scale_sets_list", None),
    "setVmList": (COMPUTE, "virtual_machine_scale_set_vms_list", None),
    "skus": (COMPUTE, "resource_skus_list", None),
    "versionList": (COMPUTE, "gallery_image_versions_list_by_gallery_image", None),
    "versionGet": (COMPUTE, "gallery_image_versions_get", None),
    "versionPut": (COMPUTE, "gallery_image_versions_create_or_update", "GalleryImageVersion"),
    "versionDelete": (COMPUTE, "gallery_image_versions_delete", None),
    "imageList": (COMPUTE, "images_list_by_resource_group", None),
    "imagePut": (COMPUTE, "images_create_or_update", "Image"),
    "imageDelete": (COMPUTE, "images_delete", None),
    "groupList": (RESOURCES, "resource_groups_list", None),
    "groupPut": (RESOURCES, "resource_groups_create_or_update", "ResourceGroup"),
    "groupDelete": (RESOURCES, "resource_groups_delete", None),
    "partList disks": (COMPUTE, "disks_list_by_resource_group", None),
    "partDelete disks": (COMPUTE, "disks_delete", None),
    "partList networkInterfaces": (NETWORK, "network_interfaces_list", None),
    "partDelete networkInterfaces": (NETWORK, "network_interfaces_delete", None),
    "partList publicIPAddresses": (NETWORK, "public_ip_addresses_list", None),
    "partDelete publicIPAddresses": (NETWORK, "public_ip_addresses_delete", None),
    "partPut virtualNetworks": (NETWORK, "virtual_networks_create_or_update", "VirtualNetwork"),
    "partGet virtualNetworks": (NETWORK, "virtual_networks_get", None),
    "partList virtualNetworks": (NETWORK, "virtual_networks_list", None),
    "partDelete virtualNetworks": (NETWORK, "virtual_networks_delete", None),
    "partPut networkSecurityGroups": (NETWORK, "network_security_groups_create_or_update", "NetworkSecurityGroup"),
    "partGet networkSecurityGroups": (NETWORK, "network_security_groups_get", None),
    "partList networkSecurityGroups": (NETWORK, "network_security_groups_list", None),
    "partDelete networkSecurityGroups": (NETWORK, "network_security_groups_delete", None),
    "listClusters": ("azure/mgmt/containerservice", "managed_clusters_list", None),
    "listClusterUserCredential": (
        "azure/mgmt/containerservice",
        "managed_clusters_list_cluster_user_credentials",
        None,
    ),
    "autoscaleList": ("azure/mgmt/monitor", "list_by_resource_group", None),
    "locations": ("azure/mgmt/resource/subscriptions", "subscriptions_list_locations", None),
    "kvList": (STORE, "azure_app_configuration_get_key_values", None),
    "kvGet": (STORE, "azure_app_configuration_get_key_value", None),
    "kvPut": (STORE, "azure_app_configuration_put_key_value", "KeyValue"),
    "kvDelete": (STORE, "azure_app_configuration_delete_key_value", None),
    "containerPut": (CONTAINERS, "create_or_update", "ContainerGroup"),
    "containerGet": (CONTAINERS, "get", None),
    "containerList": (CONTAINERS, "list_by_resource_group", None),
    "containerDelete": (CONTAINERS, "delete", None),
    "containerStop": (CONTAINERS, "stop", None),
    "containerLogs": (CONTAINERS, "list_logs", None),
}
OPERATIONS = {
    "azure/mgmt/monitor": "operations/_autoscale_settings_operations.py",
    STORE: "_operations/_operations.py",
    CONTAINERS: "operations/_container_groups_operations.py",
}
# Where an operation is in another file than those of its package.
PLACES = {"containerLogs": "operations/_containers_operations.py"}
# Compute and network have models of the same name.
PREFIXES = {NETWORK: "network.", RESOURCES: "resources.", CONTAINERS: "container."}
# Models of an older generator: their fields are parameters, and a map has the places of these in the body.
OLD_MODELS = {CONTAINERS: ("_models_py3.py", "_container_instance_management_client_enums.py")}
# The enumeration of sizes is of 2016; Azure has others since.
NO_ENUM = {"VirtualMachineSizeTypes"}
TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean"}

folder = Path(sys.argv[1])


def parsed(path):
    return ast.parse((folder / path).read_text())


def classes_in(path):
    return {node.name: node for node in parsed(path).body if isinstance(node, ast.ClassDef)}


def enum_values(node):
    return [one.value.value for one in node.body if isinstance(one, ast.Assign)]


class Models:
    """The models of one package, as JSON Schema of those that are referred to."""

    def __init__(self, package, defs):
        self.defs = defs
        self.prefix = PREFIXES.get(package, "")
        models, enums = OLD_MODELS.get(package, ("_models.py", "_enums.py"))
        self.is_old = package in OLD_MODELS
        self.models = classes_in(f"{package}/models/{models}")
        self.enums = classes_in(f"{package}/models/{enums}")

    def fields(self, name):
        """All fields with those of the bases."""
        node = self.models[name]
        own = []
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in self.models:
                own += self.fields(base.id)
        own += [one for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.value, ast.Call)]
        return own

    def refer(self, name):
        key = f"{self.prefix}{name}"
        if key not in self.defs:
            self.defs[key] = {}
            self.defs[key] = self.model(name)
        return {"$ref": f"#/$defs/{key}"}

    def old_model(self, name):
        body = self.models[name].body
        keys = next(ast.literal_eval(one.value) for one in body if isinstance(one, ast.Assign) and one.targets[0].id == "_attribute_map")
        init = next(one for one in body if isinstance(one, ast.FunctionDef) and one.name == "__init__").args
        given = dict(zip([one.arg for one in init.kwonlyargs], zip(init.kwonlyargs, init.kw_defaults)))
        tree = {"type": "object", "properties": {}, "additionalProperties": False}
        for field, entry in keys.items():
            at = tree
            *outer, last = entry["key"].split(".")
            parameter, default = given.get(field, (None, None))
            for key in [*outer, last]:
                if parameter is not None and default is None and key not in at.setdefault("required", []):
                    at["required"].append(key)
                if key != last:
                    at = at["properties"].setdefault(key, {"type": "object", "properties": {}, "additionalProperties": False})
            # What only Azure writes is no parameter.
            at["properties"][last] = {} if parameter is None else self.schema(parameter.annotation)
            if not at.get("required"):
                at.pop("required", None)
        return tree

    def model(self, name):
        if self.is_old:
            return self.old_model(name)
        properties, required = {}, []
        for field in self.fields(name):
            if getattr(field.value.func, "id", "") not in ("rest_field", "rest_discriminator"):
                continue
            options = {one.arg: ast.literal_eval(one.value) for one in field.value.keywords if one.arg in ("name", "visibility")}
            key = options.get("name", field.target.id)
            # What only Azure writes is ignored where others send it.
            is_read = options.get("visibility") == ["read"]
            properties[key] = {} if is_read else self.schema(field.annotation)
            if not is_read and not ast.unparse(field.annotation).startswith("Optional["):
                required.append(key)
        return {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            "additionalProperties": False,
        }

    def schema(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.schema(ast.parse(node.value, mode="eval").body)
        if isinstance(node, ast.Attribute):
            name = node.attr
            if name in self.enums:
                return {"type": "string"} if name in NO_ENUM else {"enum": enum_values(self.enums[name])}
            return self.refer(name) if name in self.models else {"type": "string"}
        if isinstance(node, ast.Name):
            return {"type": TYPES[node.id]} if node.id in TYPES else {}
        outer = ast.unparse(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if outer == "Optional":
            return self.schema(inner[0])
        if outer in ("list", "List"):
            return {"type": "array", "items": self.schema(inner[0])}
        if outer in ("dict", "Dict"):
            return {"type": "object", "additionalProperties": self.schema(inner[1])}
        # Union[str, "_models.SomeEnum"]: clients must accept values of tomorrow, the service does not.
        return self.schema(inner[1])


def query_of(package, operation, place):
    path = f"{package}/{place or OPERATIONS.get(package, 'operations/_operations.py')}"
    text = (folder / path).read_text()
    name = f"build_{operation}_request"
    body = re.split(r"\n(?:def|class) ", text.split(f"\ndef {name}(")[1])[0]
    found = re.findall(r'_params\["([^"]+)"\] = (\[?)_SERIALIZER\.query\("\w+", \w+, "(\[?)(\w+)', body)
    query = {key: {"type": "array" if many or each else TYPES.get(kind, "string")} for key, many, each, kind in found}
    version = re.search(r'_params\.pop\("api-version", "([^"]+)"\)', body)
    return query, version.group(1) if version else ""


def release_of(package):
    for info in folder.glob("*.dist-info"):
        record = (info / "RECORD").read_text()
        if f"{package}/" in record:
            name, version = info.name.removesuffix(".dist-info").rsplit("-", 1)
            return f"{name.replace('_', '-')} {version}"
    raise LookupError(package)


defs, methods, opened, versions = {}, {}, {}, {}
for action, (package, operation, model) in WANTED.items():
    query, version = query_of(package, operation, PLACES.get(action))
    versions.setdefault(package, version)
    method = {"query": query, "required": ["api-version"]}
    if model is not None:
        models = opened.setdefault(package, Models(package, defs))
        method["body"] = models.refer(model)
    methods[action] = method


def lines(entries):
    return "\n".join(f"    {json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}," for key, value in entries.items())


sources = ", ".join(f"{release_of(package)} (API of {version})" for package, version in versions.items())
target = Path(__file__).parent.parent / "src/providers/azure/fake/definition.gen.ts"
target.write_text(
    f"""// Generated from {sources}, all of PyPI, by `python3 scripts/azure-definition.py <their wheels, unpacked>`. Do not edit.
import type {{ RequestDefinition }} from '#fakes/check-request.ts';

export const definition: RequestDefinition = {{
  methods: {{
{lines(methods)}
  }},
  $defs: {{
{lines(defs)}
  }},
}};
"""
)
