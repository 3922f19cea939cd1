// Generated from mithril-client 0.1.0rc3 (PyPI) by `node scripts/mithril-definition.ts <its wheel, unpacked>`. Do not edit.
import type { RequestDefinition } from '#fakes/check-request.ts';

export const definition: RequestDefinition = {
  methods: {
    "types": {"query":{}},
    "availability": {"query":{}},
    "price": {"query":{"instance_type":{"type":"string"},"region":{"type":"string"},"instance_quantity":{"type":"integer"}},"required":["instance_type"]},
    "instances": {"query":{"next_cursor":{},"sort_by":{"enum":["created_at","instance_status","instance_type_fid"]},"sort_dir":{"enum":["asc","desc"]},"project":{"type":"string"},"instance_type":{"type":"string"},"region":{"type":"string"},"status_in":{"type":"array"},"order_type_in":{"type":"array"},"bid_fid_in":{"type":"array"},"reservation_fid_in":{"type":"array"},"limit":{"type":"integer"}},"required":["project"]},
    "list": {"query":{"next_cursor":{},"sort_by":{"enum":["created_at","status"]},"sort_dir":{"enum":["asc","desc"]},"project":{"type":"string"},"instance_type":{"type":"string"},"region":{"type":"string"},"status":{"enum":["Allocated","Open","Paused","Preempting","Terminated"]},"name":{"type":"string"},"limit":{"type":"integer"}}},
    "create": {"query":{},"body":{"$ref":"#/$defs/CreateBidRequest"}},
    "get": {"query":{}},
    "update": {"query":{},"body":{"$ref":"#/$defs/UpdateBidRequest"}},
    "delete": {"query":{}},
    "sshKeys": {"query":{"project":{"type":"string"}},"required":["project"]},
    "projects": {"query":{}},
    "me": {"query":{}},
    "teammates": {"query":{}},
  },
  $defs: {
    "UpdateBidRequest": {"type":"object","properties":{"limit_price":{"anyOf":[{"type":"null"},{"type":"string"}]},"paused":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"volumes":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]},"memory_gb":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":[],"additionalProperties":false},
    "CreateBidRequest": {"type":"object","properties":{"project":{"type":"string"},"region":{"type":"string"},"instance_type":{"type":"string"},"limit_price":{"type":"string"},"instance_quantity":{"type":"integer"},"name":{"type":"string"},"launch_specification":{"$ref":"#/$defs/LaunchSpecificationModel"}},"required":["project","region","instance_type","limit_price","instance_quantity","name","launch_specification"],"additionalProperties":false},
    "LaunchSpecificationModel": {"type":"object","properties":{"volumes":{"type":"array","items":{"type":"string"}},"ssh_keys":{"type":"array","items":{"type":"string"}},"startup_script":{"anyOf":[{"type":"null"},{"type":"string"}]},"kubernetes_cluster":{"anyOf":[{"type":"null"},{"type":"string"}]},"image_version":{"anyOf":[{"type":"null"},{"type":"string"}]},"memory_gb":{"anyOf":[{"type":"integer"},{"type":"null"}]}},"required":["volumes","ssh_keys"],"additionalProperties":false},
  },
};
