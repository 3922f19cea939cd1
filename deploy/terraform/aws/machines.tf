# What the machines may do: nothing, but for what their sessions need.
resource "aws_iam_role" "agents" {
  name = "${var.name}-agents"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy_attachment" "agents" {
  for_each = var.agent_policy_arns

  role       = aws_iam_role.agents.name
  policy_arn = each.value
}

resource "aws_iam_instance_profile" "agents" {
  name = "${var.name}-agents"
  role = aws_iam_role.agents.name
}

# What all pools have in common. Type, image and subnet stand in the documents.
resource "aws_launch_template" "agents" {
  name                   = "${var.name}-agents"
  update_default_version = true
  vpc_security_group_ids = [aws_security_group.agents.id]

  iam_instance_profile {
    name = aws_iam_instance_profile.agents.name
  }

  metadata_options {
    http_endpoint = "enabled"
    http_tokens   = "required"
  }

  # The root disk of Ubuntu's images, the standard one among them; others call it /dev/xvda.
  block_device_mappings {
    device_name = "/dev/sda1"

    ebs {
      volume_size = 100
      volume_type = "gp3"
      encrypted   = true
    }
  }
}
