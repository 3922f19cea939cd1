variable "project_id" {
  description = "The project of the machines."
  type        = string
}

variable "region" {
  description = "The region of the network; it has the zone."
  type        = string
  default     = "us-central1"
}

variable "zone" {
  description = "Where the machines are."
  type        = string
  default     = "us-central1-a"
}

variable "name" {
  description = "What all that is made here is called. The bucket has a name of its own, because it must be unique in all of Google Cloud."
  type        = string
  default     = "muster"
}

variable "bucket_name" {
  description = "The bucket of pool documents, unique in all of Google Cloud."
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

variable "ip_range" {
  description = "The network of the machines. It must reach the server, and whatever the sessions need."
  type        = string
  default     = "10.60.0.0/16"
}

variable "image" {
  description = "What the machines of groups boot from."
  type        = string
  default     = "debian-cloud/debian-12"
}

variable "pools" {
  description = "The pools, by name: each is a managed instance group of its own."
  type = map(object({
    machine_type    = string
    description     = optional(string)
    max_agents      = optional(number, 5)
    min_idle_agents = optional(number, 0)
    max_idle_agents = optional(number, 2)
    idle_decay      = optional(string, "180s")
    is_spot         = optional(bool, false)
  }))
  default = {
    cpu-pool  = { machine_type = "e2-standard-4" }
    spot-pool = { machine_type = "n2-standard-8", max_agents = 20, is_spot = true }
  }
}
