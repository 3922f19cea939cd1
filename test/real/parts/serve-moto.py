# moto as it comes, but for one thing: it starts MinCount machines, where EC2 starts as many as it can up to MaxCount.
from moto.ec2.responses.instances import InstanceResponse
from moto.server import main

param = InstanceResponse._get_param


def param_as_ec2(self, name, if_none=None):
    return param(self, "MaxCount" if name == "MinCount" else name, if_none)


InstanceResponse._get_param = param_as_ec2
main()
