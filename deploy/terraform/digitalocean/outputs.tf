output "provisioners" {
  description = "For the server's file."
  value = yamlencode({
    provisioners = [{
      name = "droplets"
      digitalocean_auto = {
        region = var.region
        labels = { (var.name) = "agents" }
        pool_details = [for name, pool in var.pools : {
          pool_name   = name
          size        = pool.size
          image       = pool.image
          description = coalesce(pool.description, pool.size)
          vpc_uuid    = digitalocean_vpc.agents.id
          autoscaler_config = {
            max_agents      = pool.max_agents
            min_idle_agents = pool.min_idle_agents
            max_idle_agents = pool.max_idle_agents
            idle_decay      = pool.idle_decay
          }
        }]
      }
    }]
  })
}
