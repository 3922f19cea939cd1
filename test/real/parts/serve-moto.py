# moto as it comes, but for two things: it starts MinCount machines, where EC2 starts as many as it can up to MaxCount,
# and it does not know the filter client-token of DescribeInstances, though it keeps the token.
from moto.ec2.responses.instances import InstanceResponse
from moto.ec2.utils import filter_dict_attribute_mapping
from moto.server import main

param = InstanceResponse._get_param


def param_as_ec2(self, name, if_none=None):
    return param(self, "MaxCount" if name == "MinCount" else name, if_none)


InstanceResponse._get_param = param_as_ec2
filter_dict_attribute_mapping["client-token"] = "client_token"
main()
