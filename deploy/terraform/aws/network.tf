# Nobody speaks to the machines; they speak to the server, and their sessions to the world.
resource "aws_security_group" "agents" {
  name        = "${var.name}-agents"
  description = "Machines of Muster"
  vpc_id      = var.vpc_id
}

resource "aws_vpc_security_group_egress_rule" "agents" {
  security_group_id = aws_security_group.agents.id
  ip_protocol       = "-1"
  cidr_ipv4         = "0.0.0.0/0"
}

# 50051 is the broker. From 8081 new machines fetch the agent.
resource "aws_vpc_security_group_ingress_rule" "server" {
  for_each = var.server_security_group_id == null ? toset([]) : toset(["50051", "8081"])

  security_group_id            = var.server_security_group_id
  referenced_security_group_id = aws_security_group.agents.id
  ip_protocol                  = "tcp"
  from_port                    = tonumber(each.key)
  to_port                      = tonumber(each.key)
}
