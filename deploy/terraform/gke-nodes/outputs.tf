output "values" {
  description = "For the chart: helm upgrade --values."
  value = yamlencode({
    nodes = {
      enabled = true
      accounts = [{
        gke = {
          project      = var.project_id
          location     = var.location
          cluster_name = var.cluster_name
        }
      }]
    }
  })
}

output "instance_groups" {
  description = "The groups behind each pool."
  value       = { for name, pool in google_container_node_pool.gpu : name => [for url in pool.managed_instance_group_urls : basename(url)] }
}
