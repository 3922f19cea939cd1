variable "project_id" {
  description = "The project of the cluster."
  type        = string
}

variable "location" {
  description = "The region or zone of the cluster."
  type        = string
}

variable "cluster_name" {
  description = "The cluster, which exists."
  type        = string
}

variable "kubeconfig" {
  description = "How Terraform reaches the cluster, for the NodeProvisioners."
  type        = string
  default     = "~/.kube/config"
}

variable "kubeconfig_context" {
  description = "The context of that file."
  type        = string
  default     = null
}

variable "node_service_account" {
  description = "The account that the nodes act as."
  type        = string
}

variable "server" {
  description = "Where Muster runs in the cluster: its service account gets the rights of the role."
  type = object({
    namespace       = optional(string, "velda")
    service_account = optional(string, "velda-apiserver")
  })
  default = {}
}

variable "node_pools" {
  description = "The pools of GPU nodes, by name; each has a NodeProvisioner of that name, with the numbers of spec."
  type = map(object({
    zones             = list(string)
    machine_type      = string
    accelerator_type  = string
    accelerator_count = number
    spec              = optional(map(number), {})
  }))
  default = {
    h100 = {
      zones             = ["us-central1-a", "us-central1-b"]
      machine_type      = "a3-highgpu-8g"
      accelerator_type  = "nvidia-h100-80gb"
      accelerator_count = 8
      spec              = { minGPUUtilizationPercent = 80, minUnutilizedGPUNodes = 2 }
    }
  }
}
