resource "digitalocean_vpc" "agents" {
  name     = "${var.name}-agents"
  region   = var.region
  ip_range = var.ip_range
}

# The source puts this tag on its droplets: it is the label name=agents, written as DigitalOcean writes tags.
resource "digitalocean_tag" "agents" {
  name = "${var.name}:agents"
}

# No one speaks to the droplets; they speak to the server, and their sessions to the world.
resource "digitalocean_firewall" "agents" {
  name = "${var.name}-agents"
  tags = [digitalocean_tag.agents.name]

  outbound_rule {
    protocol              = "tcp"
    port_range            = "1-65535"
    destination_addresses = ["0.0.0.0/0", "::/0"]
  }

  outbound_rule {
    protocol              = "udp"
    port_range            = "1-65535"
    destination_addresses = ["0.0.0.0/0", "::/0"]
  }

  outbound_rule {
    protocol              = "icmp"
    destination_addresses = ["0.0.0.0/0", "::/0"]
  }
}
