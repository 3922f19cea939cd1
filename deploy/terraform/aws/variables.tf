variable "region" {
  description = "Where the parameters and the machines are."
  type        = string
  default     = "us-west-2"
}

variable "name" {
  description = "What all that is made here is called."
  type        = string
  default     = "muster"
}

variable "config_prefix" {
  description = "The path of the pool documents; the same as config_prefix in the server's file."
  type        = string
  default     = "/velda/pools/"

  validation {
    condition     = startswith(var.config_prefix, "/") && endswith(var.config_prefix, "/")
    error_message = "Begin and end it with a slash."
  }
}

variable "cluster" {
  description = "The cluster id that `muster server status` shows. Without it the server may end any machine that bears a mark of Muster."
  type        = string
  default     = null
}

variable "vpc_id" {
  description = "The network of the machines."
  type        = string
}

variable "subnet_id" {
  description = "Their subnet. It must reach the server, and whatever the sessions need."
  type        = string
}

variable "server_security_group_id" {
  description = "The security group of the server, which is opened for agents; null leaves that to you."
  type        = string
  default     = null
}

variable "ami_name" {
  description = "The newest image of this account whose name fits; null takes the standard image, on which the agent is installed at boot."
  type        = string
  default     = null
}

variable "agent_policy_arns" {
  description = "What sessions may do in AWS. Muster itself needs nothing on the machines."
  type        = set(string)
  default     = []
}

variable "pools" {
  description = "The pools, by name."
  type = map(object({
    instance_type   = string
    description     = optional(string)
    max_agents      = optional(number, 5)
    min_idle_agents = optional(number, 0)
    max_idle_agents = optional(number, 2)
    idle_decay      = optional(string, "180s")
    market          = optional(string, "on_demand")
  }))
  default = {
    cpu-pool = { instance_type = "c5.4xlarge" }
    gpu-pool = { instance_type = "g4dn.xlarge", max_agents = 2 }
  }
}
