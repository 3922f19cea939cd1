variable "region" {
  description = "Where the droplets are."
  type        = string
  default     = "atl1"
}

variable "name" {
  description = "What all that is made here is called."
  type        = string
  default     = "velda"

  validation {
    condition     = can(regex("^[a-z][a-z0-9]*$", var.name)) && !startswith(var.name, "muster-")
    error_message = "Use small letters and digits."
  }
}

variable "ip_range" {
  description = "The network of the droplets. It must reach the server, and whatever the sessions need."
  type        = string
  default     = "10.70.0.0/16"
}

variable "pools" {
  description = "The pools, by name."
  type = map(object({
    size            = string
    image           = string
    description     = optional(string)
    max_agents      = optional(number, 5)
    min_idle_agents = optional(number, 0)
    max_idle_agents = optional(number, 1)
    idle_decay      = optional(string, "180s")
  }))
  default = {
    cpu-pool = { size = "c-4", image = "ubuntu-24-04-x64" }
    gpu-pool = { size = "gpu-h100x1-80gb", image = "gpu-h100x1-base", max_agents = 2 }
  }
}
