# Perl: sessions that never expire, or expire after 10,000 others.
# native
# needs perl
# run leak: something grows
# run sound: no suspect
$RECORD perl -e '
my %sessions; my @order;
for my $i (1 .. 400000) {
    $sessions{"session $i"} = { id => $i, user => "user " . $i % 1000 };
    next if $ARGV[0] eq "leak";
    push @order, "session $i";
    delete $sessions{shift @order} if @order > 10000;
}' "$1"
