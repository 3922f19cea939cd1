locals {
  image = var.ami_name == null ? { ami_id = "aws-ml" } : { ami_name = var.ami_name }
}

# Each parameter is a pool. Take one away, and its pool is drained and removed.
resource "aws_ssm_parameter" "pools" {
  for_each = var.pools

  name = "${var.config_prefix}${each.key}"
  type = "String"
  value = jsonencode({
    name        = each.key
    description = coalesce(each.value.description, each.value.instance_type)
    auto_scaler = {
      backend = {
        aws_launch_template = merge(local.image, {
          region               = var.region
          launch_template_name = aws_launch_template.agents.name
          instance_type        = each.value.instance_type
          subnet_id            = var.subnet_id
          market               = each.value.market
        })
      }
      max_agents      = each.value.max_agents
      min_idle_agents = each.value.min_idle_agents
      max_idle_agents = each.value.max_idle_agents
      idle_decay      = each.value.idle_decay
    }
  })
}
