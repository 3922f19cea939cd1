// Generated from github.com/digitalocean/openapi at 7c1300c479fe by `node scripts/digitalocean-definition.ts <its folder> <its commit>`. Do not edit.
import type { RequestDefinition } from '#fakes/check-request.ts';

export const definition: RequestDefinition = {
  methods: {
    "account": {"query":{}},
    "keys": {"query":{"per_page":{"type":"integer","minimum":1,"maximum":200},"page":{"type":"integer","minimum":1}}},
    "sizes": {"query":{"per_page":{"type":"integer","minimum":1,"maximum":200},"page":{"type":"integer","minimum":1}}},
    "regions": {"query":{"per_page":{"type":"integer","minimum":1,"maximum":200},"page":{"type":"integer","minimum":1}}},
    "images": {"query":{"type":{"type":"string","enum":["application","distribution"]},"private":{"type":"boolean"},"tag_name":{"type":"string"},"per_page":{"type":"integer","minimum":1,"maximum":200},"page":{"type":"integer","minimum":1}}},
    "vpcs": {"query":{"per_page":{"type":"integer","minimum":1,"maximum":200},"page":{"type":"integer","minimum":1}}},
    "list": {"query":{"per_page":{"type":"integer","minimum":1,"maximum":200},"page":{"type":"integer","minimum":1},"tag_name":{"type":"string"},"name":{"type":"string"},"type":{"type":"string","enum":["droplets","gpus"]}}},
    "create": {"query":{},"body":{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-zA-Z0-9]?[a-z0-9A-Z.\\-]*[a-z0-9A-Z]$","maxLength":255},"region":{"type":"string"},"size":{"type":"string"},"image":{"anyOf":[{"type":"string"},{"type":"integer"}]},"ssh_keys":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"backups":{"type":"boolean"},"backup_policy":{"type":"object","properties":{"plan":{"type":"string","enum":["daily","weekly"]},"weekday":{"type":"string","enum":["SUN","MON","TUE","WED","THU","FRI","SAT"]},"hour":{"type":"integer","enum":[0,4,8,12,16,20]}},"additionalProperties":false},"ipv6":{"type":"boolean"},"monitoring":{"type":"boolean"},"tags":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]},"user_data":{"type":"string"},"private_networking":{"type":"boolean"},"volumes":{"type":"array","items":{"type":"string"}},"vpc_uuid":{"type":"string"},"with_droplet_agent":{"type":"boolean"},"public_networking":{"type":"boolean"}},"required":["name","size","image"],"additionalProperties":false}},
    "createMany": {"query":{},"body":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string","pattern":"^[a-zA-Z0-9]?[a-z0-9A-Z.\\-]*[a-z0-9A-Z]$","maxLength":255}},"region":{"type":"string"},"size":{"type":"string"},"image":{"anyOf":[{"type":"string"},{"type":"integer"}]},"ssh_keys":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}},"backups":{"type":"boolean"},"backup_policy":{"type":"object","properties":{"plan":{"type":"string","enum":["daily","weekly"]},"weekday":{"type":"string","enum":["SUN","MON","TUE","WED","THU","FRI","SAT"]},"hour":{"type":"integer","enum":[0,4,8,12,16,20]}},"additionalProperties":false},"ipv6":{"type":"boolean"},"monitoring":{"type":"boolean"},"tags":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]},"user_data":{"type":"string"},"private_networking":{"type":"boolean"},"volumes":{"type":"array","items":{"type":"string"}},"vpc_uuid":{"type":"string"},"with_droplet_agent":{"type":"boolean"},"public_networking":{"type":"boolean"}},"required":["names","size","image"],"additionalProperties":false}},
    "deleteByTag": {"query":{"tag_name":{"type":"string"}},"required":["tag_name"]},
    "get": {"query":{}},
    "delete": {"query":{}},
    "actions": {"query":{"per_page":{"type":"integer","minimum":1,"maximum":200},"page":{"type":"integer","minimum":1}}},
    "action": {"query":{}},
    "createTag": {"query":{},"body":{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-zA-Z0-9_\\-\\:]+$","maxLength":255}},"additionalProperties":false}},
    "tag": {"query":{},"body":{"type":"object","properties":{"resources":{"type":"array","items":{"type":"object","properties":{"resource_id":{"type":"string"},"resource_type":{"type":"string","enum":["droplet","image","volume","volume_snapshot"]}},"additionalProperties":false}}},"required":["resources"],"additionalProperties":false}},
  },
  $defs: {
  },
};
