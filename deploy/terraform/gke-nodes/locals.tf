locals {
  # It joins nodes and NodeProvisioner. By convention its value is the name of the node pool.
  label = "nodeprovisioner.compute.baseten.co/provisioner-name"

  # A pool has an instance group in each of its zones; ZONE/POOL names it. The first one is grown first.
  node_provisioners = {
    for name, pool in var.node_pools : name => {
      apiVersion = "compute.baseten.co/v1alpha1"
      kind       = "NodeProvisioner"
      metadata   = { name = name }
      spec = merge(
        { existingInstanceGroupNames = [for zone in pool.zones : "${zone}/${name}"] },
        pool.spec,
      )
    }
  }
}
