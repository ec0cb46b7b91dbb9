"""Decodes requests with the official messages and checks what the protocols require. Reads a list of files as JSON, prints
totals by file."""

import gzip
import json
import sys

import profile_pb2
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.profiles.v1development import profiles_service_pb2


# Columns of lines are in pprof's definition since 2023, and not yet in the package.
LATER = {"perftools.profiles.Line": {3}}


def known(message):
    """The message and all in it have only fields that the official definition has."""
    name = message.DESCRIPTOR.full_name
    unknown = {field.field_number for field in UnknownFieldSet(message)}
    assert unknown <= LATER.get(name, set()), (name, unknown)
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for one in value if field.is_repeated else [value]:
                known(one)


def pprof(data):
    profile = profile_pb2.Profile.FromString(gzip.decompress(data))
    known(profile)
    text = profile.string_table
    assert text[0] == "" and len(set(text)) == len(text)
    functions = {function.id: function for function in profile.function}
    locations = {location.id: location for location in profile.location}
    mappings = {mapping.id for mapping in profile.mapping}
    assert 0 not in functions and 0 not in locations and 0 not in mappings
    for location in profile.location:
        assert location.mapping_id in mappings
        assert all(line.function_id in functions for line in location.line)
    for sample in profile.sample:
        assert len(sample.value) == len(profile.sample_type)
        assert sample.location_id and all(one in locations for one in sample.location_id)
    names = [text[function.name] for function in profile.function]
    files = [text[function.filename] for function in profile.function]
    totals = {
        text[kind.type]: sum(sample.value[at] for sample in profile.sample)
        for at, kind in enumerate(profile.sample_type)
    }
    return {"totals": totals, "names": names, "files": files, "strings": list(text)}


def otlp(data):
    request = profiles_service_pb2.ExportProfilesServiceRequest.FromString(data)
    known(request)
    tables = request.dictionary
    for table in ["mapping", "location", "function", "attribute", "stack"]:
        first = getattr(tables, table + "_table")[0]
        assert first == type(first)(), table
        entries = [entry.SerializeToString() for entry in getattr(tables, table + "_table")]
        assert table in ["location", "attribute"] or len(set(entries)) == len(entries), table
    link = tables.link_table[0]
    assert link.trace_id == bytes(16) and link.span_id == bytes(8)
    text = tables.string_table
    assert text[0] == "" and len(set(text)) == len(text)
    for function in tables.function_table[1:]:
        assert function.name_strindex and function.name_strindex < len(text)
    for location in tables.location_table[1:]:
        assert 0 < location.mapping_index < len(tables.mapping_table)
        assert all(0 < line.function_index < len(tables.function_table) for line in location.lines)
    for stack in tables.stack_table[1:]:
        assert all(0 < at < len(tables.location_table) for at in stack.location_indices)
    (resource,) = request.resource_profiles
    attributes = {
        one.key: getattr(one.value, one.value.WhichOneof("value"))
        for one in resource.resource.attributes
    }
    assert len(attributes) == len(resource.resource.attributes)
    (scope,) = resource.scope_profiles
    assert scope.scope.name == "memtrail" and scope.scope.version
    totals, ids = {}, set()
    for profile in scope.profiles:
        assert len(profile.profile_id) == 16
        ids.add(profile.profile_id)
        assert profile.time_unix_nano and profile.period
        stacks = [sample.stack_index for sample in profile.samples]
        assert all(0 < stack < len(tables.stack_table) for stack in stacks)
        assert len(set(stacks)) == len(stacks)
        assert all(len(sample.values) == 1 for sample in profile.samples)
        kind = text[profile.sample_type.type_strindex]
        assert text[profile.sample_type.unit_strindex] in ("bytes", "count")
        totals[kind] = sum(sample.values[0] for sample in profile.samples)
    assert len(ids) == len(scope.profiles)
    return {"totals": totals, "attributes": attributes, "strings": list(text)}


def main():
    found = []
    for file in json.load(sys.stdin):
        with open(file["path"], "rb") as data:
            found.append({"pprof": pprof, "otlp": otlp}[file["as"]](data.read()))
    print(json.dumps(found))


main()
