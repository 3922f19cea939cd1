# Each parameter is a pool.
resource "aws_ssm_parameter" "gpu_pool" {
  name  = "/velda/pools/gpu-pool"
  type  = "String"
  value = jsonencode({
    name = "gpu-pool"
    auto_scaler = {
      backend = {
        aws_launch_template = {
          region                = "us-west-2"
          launch_template_name  = "velda-gpu-workers"
          instance_type         = "p3.2xlarge"
          ami_id                = data.aws_ami.velda_agent.id
          subnet_id             = aws_subnet.private.id
          security_group_ids    = [aws_security_group.velda_agent.id]
        }
      }
      max_agents      = 20
      min_idle_agents = 2
      max_idle_agents = 5
      idle_decay      = "5m"
    }
  })
}

resource "aws_ssm_parameter" "cpu_pool" {
  name  = "/velda/pools/cpu-pool"
  type  = "String"
  value = jsonencode({
    name = "cpu-pool"
    auto_scaler = {
      backend = {
        aws_launch_template = {
          region                = "us-west-2"
          launch_template_name  = "velda-cpu-workers"
          instance_type         = "c5.4xlarge"
          ami_id                = data.aws_ami.velda_agent.id
          subnet_id             = aws_subnet.private.id
        }
      }
      max_agents      = 50
      min_idle_agents = 5
      max_idle_agents = 10
      idle_decay      = "5m"
    }
  })
}
