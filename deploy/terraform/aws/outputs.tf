output "server_instance_profile" {
  description = "For the machine that the server runs on."
  value       = aws_iam_instance_profile.server.name
}

output "agents_security_group_id" {
  description = "The machines' security group."
  value       = aws_security_group.agents.id
}

output "provisioners" {
  description = "For the server's file."
  value = yamlencode({
    provisioners = [{
      name = "parameters"
      aws = {
        region          = var.region
        config_prefix   = var.config_prefix
        update_interval = "60s"
      }
    }]
  })
}
