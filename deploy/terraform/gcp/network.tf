resource "google_compute_network" "muster" {
  name                    = var.name
  auto_create_subnetworks = false
}

# Nobody speaks to the machines; they speak to the server, and their sessions to the world. A network without firewall
# rules lets nothing in.
resource "google_compute_subnetwork" "agents" {
  name                     = "${var.name}-agents"
  region                   = var.region
  network                  = google_compute_network.muster.id
  ip_cidr_range            = var.ip_range
  private_ip_google_access = true
}

# Machines without external addresses reach the world through this one.
resource "google_compute_router" "agents" {
  name    = "${var.name}-agents"
  region  = var.region
  network = google_compute_network.muster.id
}

resource "google_compute_router_nat" "agents" {
  name                               = "${var.name}-agents"
  region                             = var.region
  router                             = google_compute_router.agents.name
  nat_ip_allocate_option             = "AUTO_ONLY"
  source_subnetwork_ip_ranges_to_nat = "ALL_SUBNETWORKS_ALL_IP_RANGES"
}
