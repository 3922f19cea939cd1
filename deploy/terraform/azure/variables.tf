variable "subscription_id" {
  description = "The subscription of the machines."
  type        = string
}

variable "location" {
  description = "Where everything is."
  type        = string
  default     = "westeurope"
}

variable "name" {
  description = "What all that is made here is called. The store of pools has a name of its own, because it must be unique in all of Azure."
  type        = string
  default     = "muster"
}

variable "store_name" {
  description = "The App Configuration store: 5 to 50 letters, digits and hyphens, unique in all of Azure."
  type        = string
}

variable "config_prefix" {
  description = "The prefix of the pool documents; the same as config_prefix in the server's file."
  type        = string
  default     = "pools/"

  validation {
    condition     = endswith(var.config_prefix, "/")
    error_message = "End it with a slash."
  }
}

variable "address_space" {
  description = "The network of the machines. It must reach the server, and whatever the sessions need."
  type        = string
  default     = "10.60.0.0/16"
}

variable "pools" {
  description = "The pools, by name."
  type = map(object({
    vm_size         = string
    description     = optional(string)
    max_agents      = optional(number, 5)
    min_idle_agents = optional(number, 0)
    max_idle_agents = optional(number, 2)
    idle_decay      = optional(string, "180s")
    market          = optional(string, "on_demand")
  }))
  default = {
    cpu-pool = { vm_size = "Standard_D4s_v5" }
    gpu-pool = { vm_size = "Standard_NC4as_T4_v3", max_agents = 2, market = "spot" }
  }
}
